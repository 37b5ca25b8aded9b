"""Calls tools of an MCP server with the Python SDK. Prints one JSON object.

mcp_client.py MODE COMMAND ARGS…   MODE: legacy, auto or a version. Calls come as JSON from standard input: [[tool,
                                   arguments], …].
"""
import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters


async def talk(mode, command, args, calls):
    server = StdioServerParameters(command=command, args=args, env=dict(os.environ))
    async with Client(server, mode=mode) as client:
        tools = await client.list_tools()
        answers = {}
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments)
            answers[tool] = {"error": bool(result.is_error), "result": result.structured_content}
        return {"tools": [tool.name for tool in tools.tools], "answers": answers}


mode, command, *args = sys.argv[1:]
print(json.dumps(asyncio.run(talk(mode, command, args, json.load(sys.stdin)))))
