import type { PageState } from "../api/statusPages";
import { locale, t } from "../words/t";
import { PagePreview } from "./PagePreview";

const line = (name: string, state: PageState) => ({ key: name, name, state, description: "", manual: false });

const example = {
  title: t("Acme status"),
  description: t("How our services are."),
  language: locale().slice(0, 2),
  accent: "",
  accentDark: "",
  posts: [{ id: 1, title: t("Payments are slow"), state: "monitoring", announcement: false }],
  groups: [
    { key: "shop", name: t("Shop"), lines: [line(t("Website"), "up"), line(t("Payments"), "degraded")] },
    { key: "api", name: "", lines: [line("API", "up")] },
  ],
};

/** A picture of a page. */
export function Example() {
  return (
    <div role="img" aria-label={t("A status page with three components, one of them degraded, and an incident")}>
      <div aria-hidden>
        <PagePreview of={example} />
      </div>
    </div>
  );
}
