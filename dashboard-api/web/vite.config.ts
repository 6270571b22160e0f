import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The page is served under a policy of `default-src 'self'`: nothing may be
// inlined as a data: address, and no script may stand in the HTML. The words of status pages
// are those of the public pages' own files.
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: ["chrome125", "firefox125", "safari17.5"],
    modulePreload: { polyfill: false },
  },
  server: {
    host: "127.0.0.1",
    proxy: {
      "/api": { target: "http://127.0.0.1:8080", ws: true, changeOrigin: false },
      "^/s/": { target: "http://127.0.0.1:8080", ws: true, changeOrigin: false },
    },
    fs: { allow: [".", "../internal/statuspage/locales"] },
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
