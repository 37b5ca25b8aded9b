import { mount } from "svelte";
import { connect } from "$lib/ipc";
import { appearance } from "$lib/state/appearance.svelte";
import { systemStyle } from "$lib/state/system-style";
import { setLanguage } from "$lib/text/locale.svelte";
import App from "./shell/App.svelte";
import "./styles/base.css";

const target = document.getElementById("app");
if (target)
  void Promise.all([connect(), setLanguage(appearance.language)]).then(() => {
    systemStyle.follow();
    mount(App, { target });
  });
