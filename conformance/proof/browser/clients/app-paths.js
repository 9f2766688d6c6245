// What SvelteKit gives to its modules as $app/paths: where the application is mounted.
export const base = document.documentElement.dataset.base
