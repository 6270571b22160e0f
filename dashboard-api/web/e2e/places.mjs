// The pages that there are: for tests that look at all of them, and for the pictures of docs/pages.md.

/** Every page with a frame, by a name. `page` is a status page, `post` one of it. */
export function framed({ target, incident, channel, page, post }) {
  const now = new Date().toISOString();
  return {
    overview: "/",
    target: `/targets/${target.id}`,
    "target-then": `/targets/${target.id}?at=${now}`,
    rule: `/targets/${target.id}/rule`,
    incidents: "/incidents",
    incident: `/incidents/${incident.id}`,
    maintenance: "/maintenance",
    report: `/reports/${now.slice(0, 7)}`,
    fleet: "/fleet",
    settings: "/settings",
    account: "/settings/account",
    people: "/settings/people",
    keys: "/settings/keys",
    channels: "/settings/channels",
    channel: `/settings/channels/${channel.id}`,
    rules: "/settings/rules",
    pages: "/settings/pages",
    editor: `/settings/pages/${page.id}`,
    posts: `/settings/pages/${page.id}/posts`,
    "post-new": `/settings/pages/${page.id}/posts/new`,
    post: `/settings/pages/${page.id}/posts/${post.id}`,
    share: `/settings/pages/${page.id}/share`,
    transfer: "/settings/transfer",
    audit: "/settings/audit",
  };
}

/** The pages for who is not signed in; an invitation may be anybody's. */
export const outside = (invitation = "") => ({
  setup: "/setup?token=x",
  login: "/login",
  invitation: `/invitation#token=${invitation}`,
});

/** Addresses that lead to another page. */
export const leads = ["/reports"];

/** Until a page has its heading, which was not left by the one before, and nothing stands in for what is asked for. */
export const filled = (page) =>
  page.waitForFunction(
    () => document.querySelector("main h1:not([data-left])") && !document.querySelector("main .skeleton"),
  );

/** Goes elsewhere without a load: what belongs to the document stays. */
export async function go(page, path) {
  await page.evaluate((to) => {
    for (const heading of document.querySelectorAll("h1")) heading.dataset.left = "";
    history.pushState(null, "", to);
  }, path);
  await filled(page);
}

/** The set-up as it is while nothing is watched. */
export const asAtFirst = (page) =>
  page.route(/\/live\/overview\?first=0$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), total: 0 } });
  });
