// What the overview needs before it is shown: the document and everything that it names, with the static
// imports of those. The build puts it into two files, names them in the document so that nothing is found
// late, and fails when it is more than it may be.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** As much as the first load may be, in bytes, each file compressed by itself. */
export const MOST = 180_000;

/** The page begins with the words of its language (`words`), and then with everything else (`start`). */
const roots = { words: "/src/main.tsx", start: "/src/start.tsx" } as const;

interface Module {
  importedIds: readonly string[];
  code?: string | null;
}

/** The module that names every icon there is: whoever takes one of them imports it. */
const allIcons = "/lucide-react/dist/esm/lucide-react.mjs";

/** What a module imports; of the icons, those that it takes. */
export function importsOf(id: string, moduleOf: (id: string) => Module | null): Module | null {
  const module = moduleOf(id);
  const list = module?.importedIds.find((one) => one.endsWith(allIcons));
  if (!module || !list) return module;
  const icons = moduleOf(list);
  const files = new Map<string, string>();
  for (const [, names, file] of (icons?.code ?? "").matchAll(/export \{([^}]*)\} from ["']\.\/([^"']+)["']/g))
    for (const [, name] of (names ?? "").matchAll(/\bdefault as (\w+)/g)) files.set(name ?? "", file ?? "");
  const taken = [...(module.code ?? "").matchAll(/import\s*\{([^}]*)\}\s*from\s*["']lucide-react["']/g)]
    .flatMap(([, names]) => (names ?? "").split(","))
    .map((name) => name.replace(/\bas\b.*/s, "").trim())
    .filter(Boolean);
  const of = (name: string) => {
    const file = files.get(name);
    const found = file && icons?.importedIds.find((one) => one.endsWith(`/${file}`));
    if (!found) throw new Error(`${id} takes an icon ${name} that is not found`);
    return found;
  };
  return { importedIds: [...module.importedIds.filter((one) => one !== list), ...taken.map(of)] };
}

/** All that a module imports statically, and itself. */
export function reached(root: string, moduleOf: (id: string) => Module | null): Set<string> {
  const seen = new Set([root]);
  for (const id of seen) for (const next of moduleOf(id)?.importedIds ?? []) seen.add(next);
  return seen;
}

/** The file that a module belongs to: none of these two when the first load does without it, and all other icons together. */
export function fileOf(): (id: string, context: { getModuleInfo(id: string): Module | null }) => string | null {
  let sets: [string, Set<string>][] | undefined;
  return (id, context) => {
    const base = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
    sets ??= Object.entries(roots).map(([name, root]) => [
      name,
      reached(base + root, (one) => importsOf(one, (which) => context.getModuleInfo(which))),
    ]);
    // Who waits for `start` cannot lie in a file that `start` imports: it would wait for ever.
    if (id === base + roots.words) return null;
    const icon = id.includes("/lucide-react/dist/esm/icons/") ? "icons" : null;
    return sets.find(([, modules]) => modules.has(id))?.[0] ?? icon;
  };
}

export interface Built {
  type: "chunk" | "asset";
  fileName: string;
  code?: string;
  source?: string | Uint8Array;
  imports?: readonly string[];
  facadeModuleId?: string | null;
  moduleIds?: readonly string[];
  viteMetadata?: { importedCss: ReadonlySet<string> };
}

/** The names of the scripts and styles that a document names. */
const named = (html: string) =>
  [...html.matchAll(/(?:src|href)="\/([^"]+\.(?:js|css))"/g)].map((match) => match[1] ?? "");

/** Every file of the first load with its compressed size; `beside` reads what is not of the bundle. */
export function firstLoad(
  html: string,
  bundle: Readonly<Record<string, Built>>,
  beside: (name: string) => string | Uint8Array,
): Map<string, number> {
  const files = new Map([["index.html", gzipSync(html, { level: 9 }).length]]);
  const add = (name: string) => {
    if (files.has(name)) return;
    const file = bundle[name];
    files.set(name, gzipSync(file?.code ?? file?.source ?? beside(name), { level: 9 }).length);
    for (const next of [...(file?.imports ?? []), ...(file?.viteMetadata?.importedCss ?? [])]) add(next);
  };
  for (const name of named(html)) add(name);
  return files;
}

/** Names the files of `start` in the document, and holds the first load to what it may be. */
export function holdFirstLoad(most = MOST): Plugin {
  const startOf = (bundle: Readonly<Record<string, Built>>) => {
    const start = Object.values(bundle).find((file) => file.facadeModuleId?.endsWith(roots.start));
    if (!start) throw new Error(`no file is that of ${roots.start}`);
    return start;
  };
  return {
    name: "first-load",
    apply: "build",
    enforce: "post",
    transformIndexHtml: {
      order: "post",
      handler: (html, { bundle }) => {
        const built = bundle as unknown as Record<string, Built>;
        const there = new Set(named(html));
        const scripts = new Set([startOf(built).fileName]);
        const styles = new Set<string>();
        for (const name of scripts) {
          for (const next of built[name]?.imports ?? []) scripts.add(next);
          for (const next of built[name]?.viteMetadata?.importedCss ?? []) styles.add(next);
        }
        const links = (rel: string, names: ReadonlySet<string>) =>
          [...names]
            .filter((name) => !there.has(name))
            .map((name) => ({
              tag: "link",
              attrs: { rel, crossorigin: true, href: `/${name}` },
              injectTo: "head" as const,
            }));
        return [...links("modulepreload", scripts), ...links("stylesheet", styles)];
      },
    },
    generateBundle: {
      // After Vite's own, which writes the table of what lazy pages load into the scripts.
      order: "post",
      handler(_, bundle) {
        const built = bundle as unknown as Record<string, Built>;
        const files = firstLoad(String(built["index.html"]?.source), built, (name) => readFileSync(`public/${name}`));
        const entry = Object.values(built).find((file) => file.moduleIds?.some((id) => id.endsWith(roots.words)));
        const before = reached(startOf(built).fileName, (name) => ({ importedIds: built[name]?.imports ?? [] }));
        if (!entry || before.has(entry.fileName))
          throw new Error(`${roots.start} waits for ${roots.words}, which waits for it`);
        if (!files.has(startOf(built).fileName))
          throw new Error(`the document does not name the file of ${roots.start}`);
        if ([...files.keys()].some((name) => built[name]?.code?.includes("__VITE_PRELOAD__")))
          throw new Error("the first load is measured before it is written");
        const size = [...files.values()].reduce((sum, bytes) => sum + bytes, 0);
        const text = [
          `the overview needs ${(size / 1000).toFixed(1)} kB before it is shown, at most ${most / 1000}:`,
          ...[...files].map(([name, bytes]) => `${(bytes / 1000).toFixed(1).padStart(7)} kB  ${name}`),
        ].join("\n");
        if (size > most) throw new Error(text);
        this.info(text);
      },
    },
  };
}
