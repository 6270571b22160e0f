import { Check, Copy } from "lucide-react";
import { useEffect, useId, useState } from "react";
import { useAnnounce } from "../app/announcer";
import "../styles/copy.css";
import { t } from "../words/t";

const SAID_MS = 2_000;

/** A text to be taken elsewhere, with a button that copies it. */
export function CopyText({ label, text }: { label: string; text: string }) {
  const [copied, setCopied] = useState<boolean | null>(null);
  const announce = useAnnounce();
  const id = useId();
  useEffect(() => {
    if (copied === null) return;
    const timer = setTimeout(() => setCopied(null), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    const done = await toClipboard(text);
    setCopied(done);
    announce(done ? t("{label} copied.", { label }) : t("Not copied: select the text instead."));
  };
  return (
    <div className="copy-text">
      <code id={id}>{text}</code>
      <button
        type="button"
        className="btn"
        aria-label={t("Copy {label}", { label })}
        aria-describedby={id}
        onClick={() => void copy()}
      >
        {copied ? <Check size={15} aria-hidden className="s-up" /> : <Copy size={15} aria-hidden />}
        <span className="copy-word">{copied === false ? t("Select it") : copied ? t("Copied") : t("Copy")}</span>
      </button>
    </div>
  );
}

/** The clipboard is there on secure pages only; elsewhere the old way is left. */
async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
