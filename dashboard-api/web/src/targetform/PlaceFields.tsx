import { useMemo } from "react";
import { useList, useLive } from "../app/live";
import { TagInput } from "../ui/TagInput";
import { TargetPicker } from "../ui/TargetPicker";
import { t } from "../words/t";
import type { Errors } from "./form";
import { belowOf, type Place } from "./place";

/** Tags, and what the target depends on. */
export function PlaceFields({
  id,
  place,
  errors,
  onChange,
}: {
  /** Null: it is not there yet. */
  id: number | null;
  place: Place;
  errors: Errors;
  onChange: (change: Partial<Place>) => void;
}) {
  const { store } = useLive();
  const { version } = useList();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the store changes with its version
  const without = useMemo(() => (id === null ? undefined : belowOf(id, store.all())), [id, store, version]);
  return (
    <>
      <TagInput
        label={t("Tags")}
        chosen={place.tags}
        error={errors.tags}
        hint={t("To filter by, and for notification rules and maintenance of many targets. Enter or a comma ends one.")}
        onChange={(tags) => onChange({ tags })}
      />
      <TargetPicker
        label={t("Depends on")}
        value={place.parent}
        error={errors.parent}
        hint={t(
          "Such as the router in front of it. While that is down, nobody is woken for this one: it goes on being checked.",
        )}
        clearable
        none={t("Nothing")}
        {...(without && { without })}
        onChange={(parent) => onChange({ parent })}
      />
    </>
  );
}
