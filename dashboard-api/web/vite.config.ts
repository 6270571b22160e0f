import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { fileOf, holdFirstLoad } from "./build/firstload.ts";

// The page is served under a policy of `default-src 'self'`: nothing may be
// inlined as a data: address, and no script may stand in the HTML. The words of status pages
// are those of the public pages' own files.
export default defineConfig({
  plugins: [react(), holdFirstLoad()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: ["chrome125", "firefox125", "safari17.5"],
    modulePreload: { polyfill: false },
    // What the overview needs lies in few files: sixty small ones are 14 kB more, and sixty requests.
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: fileOf(), debugName: "first load", includeDependenciesRecursively: false }] },
      },
    },
  },
  server: {
    host: "127.0.0.1",
    proxy: {
      "/api": { target: "http://127.0.0.1:8080", ws: true, changeOrigin: false },
      "^/s/": { target: "http://127.0.0.1:8080", ws: true, changeOrigin: false },
    },
    fs: { allow: [".", "../internal/statuspage/locales"] },
  },
  test: {
    include: ["src/**/*.test.ts", "build/**/*.test.ts"],
    environment: "node",
    // The files share what they import: loading it for each of them takes four times as long as all the tests.
    isolate: false,
    pool: "threads",
    restoreMocks: true,
    unstubGlobals: true,
  },
});
