import { useState } from "preact/hooks";
import { useSetting } from "../app/hooks.js";
import { useSession } from "../app/session.js";
import { canNotify } from "./notifications.js";

/** Offers notifications of the system once something waits for the user. */
export function NotificationOffer() {
  const { state } = useSession();
  const [offer, setOffer] = useSetting("notifications", "offer");
  const [permission, setPermission] = useState(() =>
    canNotify() ? Notification.permission : "denied",
  );
  if (permission !== "default" || offer !== "offer" || state.inbox.length === 0) {
    return null;
  }
  return (
    <div class="offer">
      <span>Get a notification when an agent needs you and this page is hidden.</span>
      <button
        type="button"
        class="button small"
        onClick={() => void Notification.requestPermission().then(setPermission)}
      >
        Turn on
      </button>
      <button type="button" class="button muted small" onClick={() => setOffer("no")}>
        Not now
      </button>
    </div>
  );
}
