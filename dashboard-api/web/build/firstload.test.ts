import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { firstLoad, importsOf, reached } from "./firstload";

test("what is imported statically belongs to the first load, in rings too", () => {
  const imports: Record<string, string[]> = { main: ["a"], a: ["b", "main"], b: [], lazy: ["b"] };
  const found = reached("main", (id) => ({ importedIds: imports[id] ?? [] }));
  expect([...found].sort()).toEqual(["a", "b", "main"]);
});

test("of the icons those belong to the first load that are taken in it", () => {
  const icons = "/node_modules/lucide-react/dist/esm/lucide-react.mjs";
  const file = (name: string) => `/node_modules/lucide-react/dist/esm/icons/${name}.mjs`;
  const modules: Record<string, { importedIds: string[]; code?: string }> = {
    main: { importedIds: ["a", icons], code: `import {\n  Trash2,\n  X as Close,\n} from "lucide-react";` },
    a: { importedIds: [], code: "" },
    [icons]: {
      importedIds: [file("trash"), file("x"), file("zap")],
      code: ["trash:Trash, default as Trash2", "x:X", "zap:Zap"]
        .map((one) => one.split(":"))
        .map(([name, as]) => `export { default as ${as} } from './icons/${name}.mjs';`)
        .join("\n"),
    },
  };
  const moduleOf = (id: string) => modules[id] ?? { importedIds: [] };
  expect([...reached("main", (id) => importsOf(id, moduleOf))].sort()).toEqual([file("trash"), file("x"), "a", "main"]);
  modules.a = { importedIds: [icons], code: `import { Nothing } from "lucide-react";` };
  expect(() => importsOf("a", moduleOf)).toThrow("Nothing");
});

test("the first load is the document, what it names, and what that imports", () => {
  const html = `<script src="/theme.js"></script><script type="module" crossorigin src="/assets/main.js"></script>
    <link rel="modulepreload" crossorigin href="/assets/start.js"><link rel="icon" href="/icons/ok.svg" />`;
  const chunk = (name: string, imports: string[] = [], css: string[] = []) => ({
    type: "chunk" as const,
    fileName: name,
    code: `code of ${name}`,
    imports,
    viteMetadata: { importedCss: new Set(css) },
  });
  const bundle = {
    "assets/main.js": chunk("assets/main.js", ["assets/words.js"]),
    "assets/words.js": chunk("assets/words.js"),
    "assets/start.js": chunk("assets/start.js", ["assets/words.js", "assets/deep.js"], ["assets/start.css"]),
    "assets/deep.js": chunk("assets/deep.js"),
    "assets/lazy.js": chunk("assets/lazy.js", ["assets/words.js"]),
    "assets/start.css": { type: "asset" as const, fileName: "assets/start.css", source: "a{color:red}" },
  };
  const files = firstLoad(html, bundle, (name) => `beside ${name}`);
  expect([...files.keys()].sort()).toEqual([
    "assets/deep.js",
    "assets/main.js",
    "assets/start.css",
    "assets/start.js",
    "assets/words.js",
    "index.html",
    "theme.js",
  ]);
  const size = (text: string) => gzipSync(text, { level: 9 }).length;
  expect(files.get("assets/deep.js")).toBe(size("code of assets/deep.js"));
  expect(files.get("assets/start.css")).toBe(size("a{color:red}"));
  expect(files.get("theme.js")).toBe(size("beside theme.js"));
  expect(files.get("index.html")).toBe(size(html));
});
