// Corrections of VitePress's markup, for axe's rules region, landmark-one-main and nested-interactive.

// edits are by component: the text in its template, and the text to replace it with.
const edits = {
  // The content of the landing page is its main landmark.
  "VPHome.vue": [[/<div(\s+class="VPHome")/, "<main$1"], [/<\/div>(\s*<\/template>\s*<style)/, "</main>$1"]],
  // The bar with the menu and the contents of a page is navigation.
  "VPLocalNav.vue": [
    [/<div(\s+v-if="frontmatter\.layout)/, '<nav aria-label="Menu and contents"$1'],
    [/<\/div>(\s*<\/template>\s*<style)/, "</nav>$1"],
  ],
  // The heading of a group is a button. The arrow in it is a picture and not another button: groups have no page.
  "VPSidebarItem.vue": [
    [/role="button"\s+aria-label="toggle section"\s+@click="onCaretClick"\s+@keydown\.enter="onCaretClick"\s+tabindex="0"/,
      'aria-hidden="true"'],
    [/:role="itemRole"/, ':role="itemRole" :aria-expanded="item.items ? !collapsed : undefined"'],
  ],
}

// accessible is a plugin for Vite. The build fails if VitePress has changed a component.
export const accessible = {
  name: "accessible",
  enforce: "pre",
  transform(code, id) {
    const [, component] = /\/theme-default\/components\/(\w+\.vue)$/.exec(id) ?? []
    if (!edits[component]) return
    for (const [from, to] of edits[component]) {
      if (!from.test(code)) throw new Error(`${component} has no ${from}`)
      code = code.replace(from, to)
    }
    return code
  },
}
