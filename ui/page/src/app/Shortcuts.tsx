import { Dialog } from "../ui/Dialog.js";

const KEYS: readonly [string, string][] = [
  ["n", "New conversation"],
  ["/", "Search conversations"],
  ["j, k", "Next, previous conversation"],
  ["g", "Go to what waits for you"],
  ["Delete", "Delete the conversation in the list that has the focus"],
  ["i", "Write a message"],
  ["Enter", "Send; Shift+Enter for a new line"],
  ["Esc", "Leave the box, and go to what is asked"],
  ["Esc Esc", "Stop the task that is at work"],
  ["y", "Approve what is asked"],
  ["d", "Deny it: say why, or nothing, then Enter; Esc goes back"],
  ["1 to 9", "Choose one of several"],
  ["End", "Follow the newest text again"],
  ["?", "This list"],
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
