import decodeQR from "qr/decode.js";
import { describe, expect, it } from "vitest";
import { device } from "./device";
import { endedWords } from "./ended";
import { actorName } from "./people";
import { qrPath } from "./qr";
import { reaches } from "./roles";

describe("a QR code", () => {
  /** What a camera would see of the path, eight pixels a square. */
  function picture({ size, path }: { size: number; path: string }) {
    const side = size * 8;
    const data = new Uint8Array(side * side * 4).fill(255);
    for (const [, x, y, run] of path.matchAll(/M(\d+) (\d+)h(\d+)v1H\1z/g)) {
      for (let py = Number(y) * 8; py < Number(y) * 8 + 8; py++) {
        for (let px = Number(x) * 8; px < (Number(x) + Number(run)) * 8; px++) {
          data.fill(0, (py * side + px) * 4, (py * side + px) * 4 + 3);
        }
      }
    }
    return { width: side, height: side, data };
  }
  it("is read back as what was written", () => {
    const url =
      "otpauth://totp/Probefleet:ann@example.com?algorithm=SHA1&digits=6&issuer=Probefleet&secret=JBSWY3DPEHPK3PXP";
    expect(decodeQR(picture(qrPath(url)))).toBe(url);
  });
});

describe("what ends with a password", () => {
  it("is counted, and nothing is said of nothing", () => {
    expect(endedWords({ keys_ended: 0, invitations_withdrawn: 0 })).toEqual([]);
    expect(endedWords({ keys_ended: 1, invitations_withdrawn: 0 })).toEqual([
      "1 API key has ended: its program needs another.",
    ]);
    expect(endedWords({ keys_ended: 3, invitations_withdrawn: 2 })).toEqual([
      "3 API keys have ended: their programs need others.",
      "2 invitations are withdrawn.",
    ]);
  });
});

describe("a device", () => {
  it("is named as people know it", () => {
    const named: [string, string][] = [
      [
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
        "Chrome on Windows",
      ],
      [
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0",
        "Edge on Windows",
      ],
      ["Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "Firefox on Linux"],
      [
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
        "Safari on iPhone",
      ],
      [
        "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36",
        "Chrome on Android",
      ],
      ["curl/8.5.0", "curl"],
      ["Phone/1", "Phone"],
      ["", "An unknown browser"],
    ];
    for (const [agent, name] of named) expect(device(agent)).toBe(name);
  });
});

describe("who did something", () => {
  const people = [
    { id: 1, name: "Ann", email: "ann@example.com" },
    { id: 2, name: "", email: "bob@example.com" },
  ];
  const keys = [{ id: 1, name: "deploy" }];
  it("is told by name, also when they are gone", () => {
    expect(actorName("user:1", people, keys)).toBe("Ann");
    expect(actorName("user:2", people, keys)).toBe("bob@example.com");
    expect(actorName("user:3", people, keys)).toBe("a removed user (3)");
    expect(actorName("key:1", people, keys)).toBe("the key deploy");
    expect(actorName("key:9", people, keys)).toBe("an ended key (9)");
    expect(actorName("", people, keys)).toBe("nobody signed in");
    expect(actorName("cli", people, keys)).toBe("the operator’s tool");
    expect(actorName("system", people, keys)).toBe("the installation");
  });
});

it("an owner may what an editor may, and not the other way round", () => {
  expect(reaches("owner", "editor")).toBe(true);
  expect(reaches("viewer", "viewer")).toBe(true);
  expect(reaches("viewer", "editor")).toBe(false);
});
