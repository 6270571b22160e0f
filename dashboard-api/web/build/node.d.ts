// The little of Node that the build uses.
declare module "node:fs" {
  export function readFileSync(path: string): Uint8Array;
}
declare module "node:zlib" {
  export function gzipSync(data: string | Uint8Array, options: { level: number }): Uint8Array;
}
