import type { Backend, SlotInfo } from "../backend";
import { ago } from "./data";
import { failWith } from "./jobs";

export const MOCK_PASSPHRASE = "harbour copper nineteen kite";
/** The first recovery code of the vault, and the code that replaces it. Further codes alternate between these two. */
const RECOVERY_CODES = ["K7PM-2XQD-W9RA-HT4C-N6VE-3BJY-F8ZK-QM5G", "4WTN-C8HJ-ZP2E-6RXK-D9QM-V7BA-5YGF-3NSC"];

type Commands = Pick<
  Backend,
  "changePassphrase" | "newRecoveryCode" | "keySlots" | "passphraseStrength" | "suggestPassphrase"
>;

/** Key slots of the sample vault. A changed passphrase is not stored, because tests rely on a known one. */
export function sampleSlots(requireOpen: () => void): {
  code(): string;
  opens(secret: string): boolean;
  commands: Commands;
} {
  let codesMade = 0;
  const slot = (kind: string): SlotInfo => ({ kind, created_at: ago(172), memory_kib: 262_144, passes: 3, lanes: 4 });
  const slots = { passphrase: slot("passphrase"), recovery: slot("recovery") };
  const code = () => RECOVERY_CODES[codesMade % RECOVERY_CODES.length] ?? "";
  const opens = (secret: string) => secret === MOCK_PASSPHRASE || secret === code();
  const all = () => structuredClone([slots.passphrase, slots.recovery]);
  const replaceSlot = (replaced: SlotInfo, secret: string) => {
    requireOpen();
    if (!opens(secret)) throw failWith("wrong_passphrase", "That passphrase does not open this vault.");
    replaced.created_at = new Date().toISOString();
  };
  return {
    code,
    opens,
    commands: {
      passphraseStrength: async (passphrase) => {
        const score = Math.min(4, Math.floor(passphrase.length / 7));
        return {
          score,
          label: ["Very weak", "Weak", "Fair", "Good", "Strong"][score] ?? "",
          reason: score < 2 ? "It is too short. Add a word or two." : null,
        };
      },
      suggestPassphrase: async () => MOCK_PASSPHRASE,
      changePassphrase: async (secret) => (replaceSlot(slots.passphrase, secret), { slots: all() }),
      newRecoveryCode: async (secret) => {
        replaceSlot(slots.recovery, secret);
        codesMade += 1;
        return { recovery_code: code(), slots: all() };
      },
      keySlots: async () => (requireOpen(), { slots: all() }),
    },
  };
}
