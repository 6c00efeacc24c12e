import { Dialog } from "../ui/Dialog.js";
import { MODIFIER, NAVIGATION } from "./typing.js";

const KEYS: readonly [string, string][] = [
  ["Any letter", "Type into the visible input"],
  ["Enter", "Send the message or the answer; Shift+Enter for a new line"],
  [`${MODIFIER}+Enter`, "Approve the call that is shown, while no message is begun"],
  ["Esc", "Fold what is asked, then leave the input; it never stops a task"],
  [`${MODIFIER}+Shift+.`, "Stop the task that is at work"],
  [`${NAVIGATION}+N`, "New conversation"],
  [`${NAVIGATION}+J, K`, "Next, previous conversation"],
  [`${NAVIGATION}+G`, "Go to what waits for you"],
  [`${MODIFIER}+K`, "Search conversations"],
  ["Delete", "Delete the conversation in the list that has the focus"],
  ["End", "Follow the newest text again"],
  [`${MODIFIER}+/`, "This list"],
];

/** What the keys do. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
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
