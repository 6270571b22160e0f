import { t } from "../words/t";
import { Code, ltr, Tick } from "./controls";
import { healthOf, withHealth } from "./question";

const example = ltr("grpc.health.v1.Health");

/** Whose health is asked for, and whether over TLS. Both stand in the address: here they are fields of it. */
export function GrpcFields({ url, onUrl }: { url: string; onUrl: (url: string) => void }) {
  const checked = healthOf(url);
  if (!checked) return null;
  return (
    <>
      <Code
        label={t("Service")}
        error={undefined}
        hint={t("Such as {example}. Empty: the server as a whole.", { example })}
        value={checked.service}
        onChange={(service) => onUrl(withHealth(url, { service }))}
      />
      <div className="chips">
        <Tick
          label={t("Over TLS (grpcs)")}
          on={checked.secure}
          onChange={(secure) => onUrl(withHealth(url, { secure }))}
        />
      </div>
    </>
  );
}
