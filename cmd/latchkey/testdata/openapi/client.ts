// A client with types. It is compiled, not run.
import type { components, paths } from "./api";

type Keys = paths["/auth/api-keys"]["get"]["responses"]["2XX"]["content"]["application/json"];
type Session = components["schemas"]["Session"];

async function keys(): Promise<string[]> {
  const response = await fetch("/auth/api-keys", { headers: { Accept: "application/json" } });
  const found: Keys = await response.json();
  return (found.keys ?? []).map((key) => `${key.name}: ${key.scopes}`);
}

async function name(): Promise<string> {
  const session: Session = await (await fetch("/auth/session")).json();
  return session?.user?.name ?? "nobody";
}

export { keys, name };
