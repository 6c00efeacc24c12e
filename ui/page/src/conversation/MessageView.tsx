import {
  type ContextView,
  forkSeqAfter,
  type Json,
  type MessageInfo,
  type NewMessage,
  rowsOf,
  type TaskNode,
} from "@parley/client";
import { useRef, useState } from "preact/hooks";
import { formatRoute, goFrom } from "../app/route.js";
import { agentName, useSession } from "../app/session.js";
import { useReturnToNow } from "../trace/past.js";
import { Markdown } from "../text/Markdown.js";
import { CopyButton } from "../ui/CopyButton.js";
import { useFocus } from "../ui/focus.js";
import { Icon } from "../ui/Icon.js";
import { useConversation, currentView } from "./conversation-context.js";

const TITLE_MAX = 500;
const FORK_OF = "Fork of ";

const MEANWHILE =
  "Sent while an agent was working: rewind to an earlier message, or fork from here";

interface MessageViewProps {
  readonly message: MessageInfo;
  readonly task: TaskNode | undefined;
  /** True if a task was working then: a rewind to here is not possible. */
  readonly meanwhile: boolean;
}

/** A message of the user, an agent or the server. */
export function MessageView({ message, task, meanwhile }: MessageViewProps) {
  const { state } = useSession();
  const { edits } = useConversation();
  const [editing, setEditing] = useState(() => edits.has(message.messageId));
  if (message.role === "system") {
    return (
      <details class="system">
        <summary>Summary of earlier messages</summary>
        <Markdown text={message.content} />
      </details>
    );
  }
  if (message.role === "assistant") {
    return (
      <div class="text" data-who={agentName(state.agents, message.agentId)}>
        <Markdown text={message.content} />
      </div>
    );
  }
  return (
    <div class="message user">
      {editing ? (
        <Edit message={message} task={task} onDone={() => setEditing(false)} />
      ) : (
        <>
          <div class="bubble">
            <Markdown text={message.content} />
            {message.editedAt !== undefined && <p class="label">edited</p>}
          </div>
          <Actions message={message} meanwhile={meanwhile} onEdit={() => setEditing(true)} />
        </>
      )}
    </div>
  );
}

interface ActionsProps extends Pick<MessageViewProps, "message" | "meanwhile"> {
  readonly onEdit: () => void;
}

function Actions({ message, meanwhile, onEdit }: ActionsProps) {
  const { conversation, busy } = useConversation();
  const never = meanwhile ? MEANWHILE : undefined;
  const idle = never ?? (busy ? "Not available while a task is running" : undefined);
  const fork = useFork();
  const returnToNow = useReturnToNow();
  const here = formatRoute({ contextId: conversation.contextId, seq: message.seq });
  return (
    <div class="actions" role="group" aria-label="Message actions">
      <CopyButton text={message.content} what="message" />
      <button
        type="button"
        class="icon-button small"
        aria-label="Edit and run again"
        aria-description={never}
        title={idle ?? "Edit and run again"}
        disabled={idle !== undefined}
        onClick={onEdit}
      >
        <Icon name="pencil" />
      </button>
      <button
        type="button"
        class="icon-button small"
        aria-label="Rewind to here"
        aria-description={never}
        title={idle ?? "Rewind to here"}
        disabled={idle !== undefined}
        onClick={() => void conversation.rewind(message).then((done) => done && returnToNow())}
      >
        <Icon name="undo" />
      </button>
      <button
        type="button"
        class="icon-button small"
        aria-label="Fork before this message"
        title="Fork before this message"
        onClick={() => void fork(message.seq - 1)}
      >
        <Icon name="fork" />
      </button>
      <a class="icon-button small" href={here} aria-label="Link to this message" title="Link">
        <Icon name="link" />
      </a>
    </div>
  );
}

function Edit(props: { message: MessageInfo; task: TaskNode | undefined; onDone: () => void }) {
  const { conversation, edits } = useConversation();
  const { messageId } = props.message;
  const returnToNow = useReturnToNow();
  const [content, setContent] = useState(edits.get(messageId) ?? props.message.content);
  const [sending, setSending] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  useFocus(box);
  const done = (): void => {
    edits.delete(messageId);
    props.onDone();
  };
  const run = async (): Promise<void> => {
    if (content.trim() === "" || sending) {
      return;
    }
    // The message disappears immediately. If the server rejects the edit, it returns with the
    // edited text.
    edits.set(messageId, content);
    setSending(true);
    if (
      await conversation.rerun(props.message, repeatMessage(content, props.message, props.task))
    ) {
      done();
      returnToNow();
    } else {
      setSending(false);
    }
  };
  return (
    <form
      class="edit"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <textarea
        aria-label="Edit message"
        ref={box}
        rows={Math.min(10, content.split("\n").length + 1)}
        value={content}
        onInput={(event) => setContent(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.isComposing) {
            return;
          }
          if (event.key === "Escape") {
            done();
          } else if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            void run();
          }
        }}
      />
      <div class="edit-bar">
        <span class="muted">Later messages move to Branches.</span>
        <button type="button" class="button muted" onClick={done}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={content.trim() === "" || sending}>
          Run again
        </button>
      </div>
    </form>
  );
}

/** Creates an edited copy of a message, for the same agent and with the same options. */
export function repeatMessage(
  content: string,
  message: MessageInfo,
  task: TaskNode | undefined,
): NewMessage {
  const direct = task !== undefined && task.agentId !== "" && task.agentId !== "supervisor";
  const { priority, taskType, timeoutMs, workingDirectory } = task ?? {};
  // Files stay; text parts are replaced.
  const parts = message.parts?.filter((part) => content === message.content || !hasText(part));
  return {
    content,
    ...(parts === undefined || parts.length === 0 ? {} : { parts }),
    ...(direct ? { agentId: task.agentId } : {}),
    ...(priority === undefined ? {} : { priority }),
    ...(taskType === undefined ? {} : { taskType }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(workingDirectory === undefined ? {} : { workingDirectory }),
  };
}

function hasText(part: Json): boolean {
  return typeof part === "object" && part !== null && "text" in part;
}

/** Forks at an event, or at the end, and opens the fork. */
function useFork(): (atSeq: number | undefined) => Promise<void> {
  const context = useConversation();
  const { conversation } = context;
  const { contextList } = useSession();
  return async (atSeq) => {
    const made = await conversation.fork(atSeq, forkTitle(currentView(context)));
    if (made !== undefined) {
      contextList.refresh();
      goFrom(conversation.contextId, { contextId: made.contextId });
    }
  };
}

/** Forks after a task and opens the fork. */
export function useForkAfter(): (task: TaskNode) => Promise<void> {
  const context = useConversation();
  const fork = useFork();
  return (task) => {
    const view = currentView(context);
    const end = view && forkSeqAfter(rowsOf(view), task);
    // Limit the fork to the shown past.
    return fork(end ?? context.past.get().at);
  };
}

function forkTitle(view: ContextView | undefined): string {
  const title = view?.title ?? "a conversation";
  // At the start, where it is not truncated, and only once.
  return `${FORK_OF}${title.startsWith(FORK_OF) ? title.slice(FORK_OF.length) : title}`.slice(
    0,
    TITLE_MAX,
  );
}
