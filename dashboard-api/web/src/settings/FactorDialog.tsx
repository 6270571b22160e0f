import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useMemo, useState } from "react";
import { accountApi, type Enrolment } from "../api/accounts";
import { KeptFirst } from "../ui/AskFirst";
import { CopyText } from "../ui/CopyText";
import { Dialog } from "../ui/Dialog";
import { DialogForm } from "../ui/DialogForm";
import { download } from "../ui/download";
import { Field } from "../ui/Field";
import { problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { PasswordField, useCurrentPassword } from "./PasswordField";
import { qrPath } from "./qr";
import "../styles/dialog.css";
import "../styles/heartbeat.css";
import { t } from "../words/t";

/** Sets the second factor up: the password again, the app, a first code, the recovery codes. */
export default function FactorDialog({ onClose }: { onClose: () => void }) {
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  if (codes) return <Recovery codes={codes} onClose={onClose} />;
  if (enrolment) return <Scan enrolment={enrolment} onDone={setCodes} onClose={onClose} />;
  return <Begin onDone={setEnrolment} onClose={onClose} />;
}

function Begin({ onDone, onClose }: { onDone: (enrolment: Enrolment) => void; onClose: () => void }) {
  const { form, problems, refuse } = useProblems();
  const [password, setPassword] = useCurrentPassword();
  const enrol = useMutation({
    mutationFn: () => accountApi.enrol(password),
    onSuccess: onDone,
    onError: (error) => refuse(problemsOf(error, ["/current_password"])),
  });
  return (
    <DialogForm
      title={t("Set up a second factor")}
      form={form}
      problems={problems}
      busy={enrol.isPending}
      act={t("Continue")}
      onSubmit={() => enrol.mutate()}
      onClose={onClose}
    >
      <p>
        {t(
          "You need an authenticator app, such as Aegis, Google Authenticator or the one of your password manager. Nothing changes before a first code of it was right.",
        )}{" "}
        {t("Once it is on, you are signed out everywhere else.")}
      </p>
      <PasswordField
        label={t("Your password")}
        value={password}
        error={problems["/current_password"]}
        onChange={setPassword}
      />
    </DialogForm>
  );
}

function Scan({
  enrolment,
  onDone,
  onClose,
}: {
  enrolment: Enrolment;
  onDone: (codes: string[]) => void;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const { form, problems, refuse } = useProblems();
  const [code, setCode] = useState("");
  const qr = useMemo(() => qrPath(enrolment.url), [enrolment]);
  const confirm = useMutation({
    mutationFn: () => accountApi.confirmFactor(code.replace(/\s/g, "")),
    onSuccess: ({ recovery_codes }) => {
      for (const one of ["second-factor", "members", "sessions"]) void queries.invalidateQueries({ queryKey: [one] });
      onDone(recovery_codes);
    },
    onError: (error) => refuse(problemsOf(error, ["/code"])),
  });
  return (
    <DialogForm
      title={t("Add it to the app")}
      form={form}
      problems={problems}
      busy={confirm.isPending}
      act={t("Turn it on")}
      onSubmit={() => confirm.mutate()}
      onClose={onClose}
    >
      <p>{t("Scan this with the app, or type the secret into it.")}</p>
      <svg
        className="qr"
        viewBox={`0 0 ${qr.size} ${qr.size}`}
        style={{ shapeRendering: "crispEdges" }}
        role="img"
        aria-label={t("QR code for the app. The secret below says the same.")}
      >
        <rect width={qr.size} height={qr.size} className="qr-light" />
        <path d={qr.path} className="qr-dark" />
      </svg>
      <CopyText label={t("secret")} text={enrolment.secret} />
      <Field label={t("Code")} error={problems["/code"]} hint={t("The six digits that the app shows now.")}>
        {(bound) => (
          <input
            {...bound}
            className="input mono"
            inputMode="numeric"
            autoComplete="one-time-code"
            value={code}
            onChange={(event) => setCode(event.target.value)}
          />
        )}
      </Field>
    </DialogForm>
  );
}

function Recovery({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const text = codes.join("\n");
  return (
    <Dialog title={t("Keep your recovery codes")} onClose={onClose}>
      <div className="dialog-body">
        <p>
          {t(
            "The second factor is on. Each of these codes counts once, in place of one of the app, when you do not have it. They are shown only now: keep them where the app is not.",
          )}
        </p>
        <div className="recovery">
          <CopyText label={t("recovery codes")} text={text} />
        </div>
        <div>
          <button
            type="button"
            className="btn"
            onClick={() => download("probefleet-recovery-codes.txt", `${text}\n`, "text/plain")}
          >
            <Download size={15} aria-hidden /> {t("Download as a file")}
          </button>
        </div>
      </div>
      <div className="dialog-foot">
        <button type="button" className="btn primary" onClick={onClose}>
          {t("I have kept them")}
        </button>
      </div>
      <KeptFirst />
    </Dialog>
  );
}
