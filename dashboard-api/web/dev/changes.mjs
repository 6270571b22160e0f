// Pretended differences between the last good and the first bad check of an incident.
import { iso } from "./world.mjs";

const leaf = (digit) => digit.repeat(64);

/** What is answered of an incident: every difference there is, then what is not known, then little. */
export function changesOf(incident) {
  const began = Date.parse(incident.began_at);
  const check = (region, ms, more) => ({
    target_id: incident.target_id,
    region,
    scheduled_at: iso(began + ms),
    checked_at: iso(began + ms + 4),
    failure: "",
    reason: "",
    http_status: 200,
    prober: `${region}-1`,
    message: "",
    ...more,
  });
  const one = (what, before, after, more) => ({ what, before, after, phase: "", ended: false, headers: [], ...more });
  const region = (name, failure, differences, unknown = [], good = true) => ({
    region: name,
    good: good ? check(name, -30_000, { status: "up" }) : null,
    bad: check(name, 0, { status: "down", failure, http_status: failure === "status_code" ? 503 : 0 }),
    differences: good ? [one("failure", "", failure), ...differences] : [],
    unknown,
  });
  if (incident.id % 4 === 3) return { missing: "not_kept", regions: [] };
  if (incident.id % 4 === 0) return { missing: "", regions: [region("eu-west", "timeout", [])] };
  const answered = region("eu-west", "status_code", [
    one("http_status", "200", "503"),
    one("phase", "84000", "2310000", { phase: "wait" }),
    one("address", "192.0.2.14", "2001:db8:85a3::8a2e:370:7334"),
    one("certificate", leaf("4"), leaf("b")),
    one("issuer", "CN=R11,O=Let's Encrypt,C=US", "CN=WE1,O=Google Trust Services,C=US"),
    one("expiry", iso(began + 20 * 86_400_000), iso(began + 88 * 86_400_000)),
    one(
      "redirect",
      "https://www.example.com/shop",
      "https://login.example.com/realms/shop/protocol/openid-connect/auth?client_id=…&state=…",
    ),
    one("tls", "1.3", "1.2"),
    one("protocol", "HTTP/2.0", "HTTP/1.1"),
    one("headers", "4096ea76ff78fd26", "3d5a5bd5e7e9eda0", {
      headers: [
        {
          name: "Content-Security-Policy",
          before: "default-src 'self'; img-src 'self' https://images.example.com",
          after: "",
        },
        { name: "Server", before: "nginx", after: "cloudflare" },
      ],
    }),
  ]);
  const cut = region(
    "us-east",
    "connect_timeout",
    [one("phase", "21000", "10000000", { phase: "connect", ended: true })],
    [
      { what: "certificate", why: "not_reached" },
      { what: "redirect", why: "no_print" },
      { what: "headers", why: "no_print" },
    ],
  );
  return { missing: "", regions: [answered, cut, region("ap-south", "timeout", [], [], false)] };
}
