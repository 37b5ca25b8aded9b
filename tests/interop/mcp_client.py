"""Calls tools of an MCP server with the Python SDK, or with FastMCP. Prints one JSON object.

mcp_client.py MODE COMMAND ARGS…   MODE: legacy, auto or a version, with the prefix `fastmcp-` for FastMCP. Reads the
                                   calls as JSON from standard input: [[tool, arguments], …].
"""
import asyncio
import json
import os
import sys

FASTMCP = "fastmcp-"


def opened(mode, command, args):
    """Returns the client, and the options with which a failed `call_tool` returns an error and does not raise."""
    env = dict(os.environ)
    if mode.startswith(FASTMCP):
        from fastmcp import Client
        from fastmcp.client.transports import StdioTransport

        client = Client(StdioTransport(command, args, env=env), mode=mode[len(FASTMCP) :])
        return client, {"raise_on_error": False}
    from mcp import Client, StdioServerParameters

    return Client(StdioServerParameters(command=command, args=args, env=env), mode=mode), {}


async def talk(mode, command, args, calls):
    client, options = opened(mode, command, args)
    async with client:
        tools = await client.list_tools()
        answers = {}
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments, **options)
            answers[tool] = {"error": bool(result.is_error), "result": result.structured_content}
        return {"tools": [tool.name for tool in getattr(tools, "tools", tools)], "answers": answers}


mode, command, *args = sys.argv[1:]
print(json.dumps(asyncio.run(talk(mode, command, args, json.load(sys.stdin)))))
