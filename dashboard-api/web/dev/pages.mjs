// Pretended status pages and posts, kept in memory: as much as it takes to tell readers of an
// incident. It judges nothing but what is missing.
import { iso } from "./world.mjs";

export class Pages {
  constructor(world) {
    const targets = [...world.targets.values()].map((entry) => entry.target);
    const now = Date.now();
    this.posts = [];
    this.pages = !targets[6]
      ? []
      : [
          page(1, "Acme", true, now, [
            ["Website", [targets[0].id]],
            ["Reports", [targets[4].id]],
            ["Intranet", [targets[6].id]],
          ]),
          page(2, "Partners of Acme", false, now, [["Gateway", [targets[5].id]]]),
        ];
    if (this.pages.length > 0) {
      const post = this.write(
        1,
        { title: "Reports: down", impact: "down", component_ids: [2], incident_id: 1 },
        now - 30 * 60_000,
      );
      say(post, { text: "We know of it, and **look for the cause**." }, now - 30 * 60_000);
      say(
        post,
        { state: "identified", text: "A disk is full:\n\n- it is being replaced\n- nothing is lost" },
        now - 12 * 60_000,
      );
      say(
        this.write(2, { title: "Reports are away", incident_id: 1 }, now - 11 * 60_000),
        { text: "You may be asked." },
        now - 11 * 60_000,
      );
    }
  }

  /** What is answered, as [status, body], or null when this is none of its paths. */
  route(method, path, body) {
    const [, id, rest = "", post, more = ""] =
      /^\/status-pages(?:\/(\d+)(\/posts)?(?:\/(\d+))?(\/updates)?)?$/.exec(path) ?? [];
    if (path === "/status-pages") return [200, { items: this.pages, next_cursor: null }];
    const page = this.pages.find((one) => one.id === Number(id));
    if (!page) return id ? [404, "there is no such status page"] : null;
    if (!rest) return [200, page];
    const posts = this.posts.filter((one) => one.page_id === page.id);
    if (!post && method === "GET") return [200, { items: posts.toReversed(), next_cursor: null }];
    const found = post ? posts.find((one) => one.id === Number(post)) : null;
    if (post && !found) return [404, "there is no such post"];
    if (method === "GET") return [200, found];
    if (method === "PATCH") return [200, Object.assign(found, body, { version: found.version + 1 })];
    if (!body.text) return [422, "this is needed", [{ pointer: "/text", code: "required", message: "this is needed" }]];
    const { state, text, ...head } = body;
    return [more ? 200 : 201, say(found ?? this.write(page.id, head, Date.now()), { state, text }, Date.now())];
  }

  write(page_id, head, at) {
    this.posts.push({
      id: this.posts.length + 1,
      page_id,
      kind: "incident",
      impact: null,
      component_ids: [],
      incident_id: null,
      ...head,
      updates: [],
      begun_at: iso(at),
      resolved_at: null,
      version: 0,
    });
    return this.posts.at(-1);
  }

  /** What readers were told of an incident. */
  updatesOf(incident) {
    return this.posts
      .filter((post) => post.incident_id === incident)
      .flatMap((post) => {
        const { title: page, published } = this.pages.find((one) => one.id === post.page_id);
        const of = { page_id: post.page_id, page, published, post_id: post.id, post: post.title, kind: post.kind };
        return post.updates.map((update, i) => ({ ...of, number: i + 1, ...update }));
      })
      .sort((a, b) => a.at.localeCompare(b.at));
  }
}

function say(post, { state = "investigating", text }, at) {
  post.updates.push({ at: iso(at), state, text, author: "user:1" });
  return Object.assign(post, { state, resolved_at: state === "resolved" ? iso(at) : null, version: post.version + 1 });
}

function page(id, title, published, now, components) {
  return {
    id,
    slug: title.toLowerCase().replaceAll(" ", "-"),
    host: null,
    published,
    title,
    description: "",
    theme: "auto",
    accent: null,
    accent_dark: null,
    language: "en",
    zone: "UTC",
    has_password: false,
    allow: [],
    show_incidents: false,
    subscribe_email: false,
    subscribe_webhook: false,
    mail_missing: null,
    groups: [
      {
        name: "",
        components: components.map(([name, target_ids], i) => ({
          id: i + 1,
          name,
          description: "",
          rule: "worst",
          state: null,
          target_ids,
          tags: [],
          member_ids: [],
        })),
      },
    ],
    version: 1,
    created_at: iso(now),
    updated_at: iso(now),
  };
}
