import { Dialog } from "../ui/Dialog.js";
import { MODIFIER, NAVIGATION } from "./typing.js";

const KEYS: readonly [string, string][] = [
  ["Any letter", "Type into the visible input"],
  ["Enter", "Send the message or the answer; Shift+Enter for a new line"],
  [`${MODIFIER}+Enter`, "Approve the call shown, if the message box is empty"],
  ["Esc", "Collapse the question, then leave the input; never stops a task"],
  [`${MODIFIER}+Shift+.`, "Stop the running task"],
  [`${NAVIGATION}+N`, "New conversation"],
  [`${NAVIGATION}+J, K`, "Next, previous conversation"],
  [`${NAVIGATION}+G`, "Go to the first conversation that needs you"],
  [`${NAVIGATION}+I`, "Open the inbox: all questions of all conversations"],
  ["↑, ↓", "Previous, next question in the inbox"],
  [`${MODIFIER}+K`, "Search conversations"],
  ["Delete", "Delete the focused conversation in the list"],
  ["End", "Scroll to the newest text and follow it"],
  [`${MODIFIER}+/`, "Show this list"],
];

/** The list of keyboard shortcuts. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
