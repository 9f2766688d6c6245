// The configuration of the documentation site. `make docs` builds it, and navigation.json lists its pages.
import { cpSync, readFileSync } from "node:fs"
import { defineConfig } from "vitepress"
import { tabsMarkdownPlugin } from "vitepress-plugin-tabs"
import { accessible } from "./accessible.mjs"
import {
  address, braces, copyable, diagrams, headings, links, pictures, repository, slug, tabs,
} from "./markdown.mjs"
import { sources } from "./sources.mjs"

const folder = new URL("..", import.meta.url)
const groups = JSON.parse(readFileSync(new URL(".vitepress/navigation.json", folder), "utf8"))
const packages = "https://pkg.go.dev/github.com/latchkey-go/latchkey/"

// title returns the first heading of a page.
const title = page => /^# (.+)$/m.exec(readFileSync(new URL(page, folder), "utf8"))[1]

const sidebar = groups.map(({ text, pages }, i) => ({
  text, collapsed: i > 1, items: pages.map(page => ({ text: title(page), link: address(page) })),
}))
sidebar[0].items.unshift({ text: "Introduction", link: "/" })
sidebar.find(group => group.text === "Reference").items.push(
  { text: "Go packages", link: packages + "core" },
  { text: "Changelog", link: repository + "blob/main/CHANGELOG.md" },
)

export default defineConfig({
  title: "Latchkey",
  description: "Sign-in and sessions for Go web applications: net/http, gin, echo and fiber, compatible with Auth.js",
  lang: "en-US",
  outDir: "../.site",
  cacheDir: "node_modules/.vitepress",
  rewrites: page => page === "README.md" ? "overview.md" : page.replace(/README\.md$/, "index.md"),
  ignoreDeadLinks: "localhostLinks",
  vite: { plugins: [accessible], publicDir: ".vitepress/public" },
  // Diagram.vue imports this copy of Mermaid. To bundle it again would take half of the build time.
  buildEnd: ({ outDir }) => cpSync(new URL("node_modules/mermaid/dist", folder), outDir + "/mermaid", {
    recursive: true, filter: path => /\/(dist|chunks)$|mermaid\.esm\.min/.test(path) && !path.endsWith(".map"),
  }),
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/icon.svg" }]],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-default" }, // enough contrast
    attrs: { disable: true }, // braces are text, as on GitHub
    anchor: { slugify: slug },
    config: md => {
      for (const rule of [sources, tabsMarkdownPlugin, tabs, pictures, links, braces, headings, copyable, diagrams]) md.use(rule)
    },
  },
  themeConfig: {
    logo: "/icon.svg",
    nav: [
      { text: "Get started", link: "/start" },
      { text: "Guides", link: "/recipes/" },
      { text: "Reference", link: "/reference" },
      { text: "Go packages", link: packages + "core" },
    ],
    sidebar,
    outline: { level: [2, 3], label: "On this page" },
    search: { provider: "local", options: { detailedView: false } },
    socialLinks: [{ icon: "github", link: repository }],
    editLink: { pattern: repository + "edit/main/docs/:path", text: "Edit this page on GitHub" },
    docFooter: { prev: "Previous", next: "Next" },
    footer: { message: "MIT license" },
  },
})
