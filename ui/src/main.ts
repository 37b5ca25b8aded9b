import { mount } from "svelte";
import { connect } from "$lib/ipc";
import App from "./shell/App.svelte";
import "./styles/base.css";

const target = document.getElementById("app");
if (target) void connect().then(() => mount(App, { target }));
