import type { PageState } from "../api/statusPages";
import { PagePreview } from "./PagePreview";

const line = (name: string, state: PageState) => ({ key: name, name, state, description: "", manual: false });

const example = {
  title: "Acme status",
  description: "How our services are.",
  language: "en",
  accent: "",
  accentDark: "",
  posts: [{ id: 1, title: "Payments are slow", state: "monitoring", announcement: false }],
  groups: [
    { key: "shop", name: "Shop", lines: [line("Website", "up"), line("Payments", "degraded")] },
    { key: "api", name: "", lines: [line("API", "up")] },
  ],
};

/** A picture of a page. */
export function Example() {
  return (
    <div role="img" aria-label="A status page with three components, one of them degraded, and an incident">
      <div aria-hidden="true">
        <PagePreview of={example} theme="auto" />
      </div>
    </div>
  );
}
