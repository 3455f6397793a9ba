import { render } from "preact";
import { followOtherTabs } from "./api/session.ts";
import { App } from "./shell/app.tsx";
import { followLinks } from "./shell/location.ts";
import { keepPreferences } from "./shell/preferences.ts";
import { keepScrollPosition } from "./shell/scroll-position.ts";
import "./styles/index.css";

keepPreferences();
followOtherTabs();
keepScrollPosition();
followLinks();
const root = document.getElementById("app");
if (root) render(<App />, root);
