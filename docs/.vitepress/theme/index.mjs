import { h } from "vue"
import DefaultTheme from "vitepress/theme"
import { enhanceAppWithTabs } from "vitepress-plugin-tabs/client"
import Diagram from "./Diagram.vue"
import SignInPicture from "./SignInPicture.vue"
import "./style.css"

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "home-hero-image": () => h(SignInPicture) }),
  enhanceApp({ app }) {
    enhanceAppWithTabs(app)
    app.component("Diagram", Diagram)
  },
}
