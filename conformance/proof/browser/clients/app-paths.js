// Replaces SvelteKit's module $app/paths, which contains the application's base path.
export const base = document.documentElement.dataset.base
