import { titleOf } from "@parley/client";
import { formatRoute } from "../app/route.js";
import { useSession } from "../app/session.js";
import { useReturnToNow } from "../trace/past.js";
import { Icon } from "../ui/Icon.js";
import { count } from "../ui/format.js";
import { useConversationView } from "./conversation-context.js";

/** Branches of the conversation: earlier versions and forks. */
export function BranchesPanel() {
  const { busy, conversation, view, past, asOf, follow } = useConversationView();
  const returnToNow = useReturnToNow();
  const goOn = async (end: number): Promise<void> => {
    if (await conversation.rewindTo(end)) {
      returnToNow();
      follow();
    }
  };
  const { state } = useSession();
  const left = view.branches.filter((branch) => branch.messages.length > 0);
  const forks = state.contexts.filter((one) => one.forkedFrom?.contextId === view.contextId);
  const source = view.forkedFrom;
  const known = state.contexts.find((one) => one.contextId === source?.contextId);
  const base = (asOf === undefined ? conversation.get().shown : past.get().context)?.base ?? 0;
  if (left.length === 0 && forks.length === 0 && source === undefined && base === 0) {
    return (
      <p class="muted">
        No earlier versions yet. When you rewind, or edit a message and run it again, Parley keeps
        the earlier version here.
      </p>
    );
  }
  return (
    <>
      {source !== undefined && (
        <p>
          This is a fork of{" "}
          <a href={formatRoute({ contextId: source.contextId, seq: source.atSeq })}>
            {known === undefined ? "another conversation" : titleOf(known)}
          </a>
          , at event {source.atSeq}.
        </p>
      )}
      {left.map((branch) => (
        <article class="branch" key={branch.rewoundAt}>
          <header>
            <Icon name="branches" />
            <span>
              Earlier version (until event {branch.rewoundAt}) ·{" "}
              {count(branch.messages.length, "message")}
            </span>
            <button
              type="button"
              class="button small"
              disabled={busy}
              onClick={() => void goOn(branch.range.last)}
            >
              Restore
            </button>
          </header>
          <ol>
            {branch.messages.map((message) => (
              <li key={message.seq} data-role={message.role}>
                {message.content.slice(0, 400)}
              </li>
            ))}
          </ol>
        </article>
      ))}
      {base > 0 && (
        <p class="muted">
          Earlier versions before event {base} are not loaded.{" "}
          {asOf === undefined && (
            <button type="button" class="button small" onClick={() => conversation.live.earlier()}>
              Load earlier
            </button>
          )}
        </p>
      )}
      {forks.length > 0 && <h3>Forks</h3>}
      <ul class="forks">
        {forks.map((one) => (
          <li key={one.contextId}>
            <a href={formatRoute({ contextId: one.contextId })}>
              <Icon name="fork" /> {titleOf(one)}
            </a>{" "}
            <span class="muted">at event {one.forkedFrom?.atSeq}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
