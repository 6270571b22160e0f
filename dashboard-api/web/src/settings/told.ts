import { t } from "../words/t";

/** What was told, of which incident. */
export const told = (event: string, id: number): string =>
  t(
    "{event, select, opened {opened, incident {id}} severity {severity, incident {id}} acknowledged {acknowledged, incident {id}} resolved {resolved, incident {id}} escalated {escalated, incident {id}} reminder {reminder, incident {id}} other {{event}, incident {id}}}",
    { event, id },
  );
