import {
  type ContextView,
  endOf,
  type Json,
  type MessageInfo,
  type NewMessage,
  rowsOf,
  type TaskNode,
} from "@parley/client";
import { useRef, useState } from "preact/hooks";
import { formatRoute, goFrom } from "../app/route.js";
import { agentName, useSession } from "../app/session.js";
import { useToNow } from "../insight/past.js";
import { Markdown } from "../text/Markdown.js";
import { CopyButton } from "../ui/CopyButton.js";
import { useFocus } from "../ui/focus.js";
import { Icon } from "../ui/Icon.js";
import { useSetting, viewShown } from "./scene.js";

const TITLE_MAX = 500;
const FORK_OF = "Fork of ";

const MEANWHILE =
  "It was said while an agent worked: go back to an earlier message, or fork from here";

interface SaidProps {
  readonly message: MessageInfo;
  readonly task: TaskNode | undefined;
  /** True if a task was at work then: the server knows no way back into the middle of one. */
  readonly meanwhile: boolean;
}

/** Something that a person, an agent or the server said. */
export function Said({ message, task, meanwhile }: SaidProps) {
  const { state } = useSession();
  const { edits } = useSetting();
  const [editing, setEditing] = useState(() => edits.has(message.messageId));
  if (message.role === "system") {
    return (
      <details class="system">
        <summary>What was said before, in short</summary>
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
    <div class="said user">
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

interface ActionsProps extends Pick<SaidProps, "message" | "meanwhile"> {
  readonly onEdit: () => void;
}

function Actions({ message, meanwhile, onEdit }: ActionsProps) {
  const { conversation, busy } = useSetting();
  const never = meanwhile ? MEANWHILE : undefined;
  const idle = never ?? (busy ? "Only while nothing runs" : undefined);
  const fork = useFork();
  const toNow = useToNow();
  const here = formatRoute({ contextId: conversation.contextId, seq: message.seq });
  return (
    <div class="actions" role="group" aria-label="What can be done with this message">
      <CopyButton text={message.content} what="message" />
      <button
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
        class="icon-button small"
        aria-label="Go back to before this"
        aria-description={never}
        title={idle ?? "Go back to before this"}
        disabled={idle !== undefined}
        onClick={() => void conversation.rewind(message).then((done) => done && toNow())}
      >
        <Icon name="undo" />
      </button>
      <button
        class="icon-button small"
        aria-label="Fork from before this"
        title="Fork from before this"
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
  const { conversation, edits } = useSetting();
  const { messageId } = props.message;
  const toNow = useToNow();
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
    // The message goes from sight at once. If it comes back, it does so with what was written.
    edits.set(messageId, content);
    setSending(true);
    if (await conversation.rerun(props.message, again(content, props.message, props.task))) {
      done();
      toNow();
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
        aria-label="The message, to be changed"
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
        <span class="quiet">What came after it is left behind, and can be found in Branches.</span>
        <button type="button" class="button quiet" onClick={done}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={content.trim() === "" || sending}>
          Run again
        </button>
      </div>
    </form>
  );
}

/** The same message for the same agent, in other words, and in the same way. */
export function again(
  content: string,
  message: MessageInfo,
  task: TaskNode | undefined,
): NewMessage {
  const direct = task !== undefined && task.agentId !== "" && task.agentId !== "supervisor";
  const { priority, taskType, timeoutMs, workingDirectory } = task ?? {};
  // Files stay; the words are those of now.
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

/** Makes a fork that ends at an event, or has all, and goes there. */
function useFork(): (atSeq: number | undefined) => Promise<void> {
  const setting = useSetting();
  const { conversation } = setting;
  const { home } = useSession();
  return async (atSeq) => {
    const made = await conversation.fork(atSeq, forkTitle(viewShown(setting)));
    if (made !== undefined) {
      home.refresh();
      goFrom(conversation.contextId, { contextId: made.contextId });
    }
  };
}

/** Makes a fork that has this task and nothing after it, and goes there. */
export function useForkAfter(): (task: TaskNode) => Promise<void> {
  const setting = useSetting();
  const fork = useFork();
  return (task) => {
    const view = viewShown(setting);
    const end = view && endOf(rowsOf(view), task);
    // What came after the past that is shown may have been left behind with it, or not.
    return fork(end ?? setting.past.get().at);
  };
}

function forkTitle(view: ContextView | undefined): string {
  const title = view?.title ?? "a conversation";
  // In front, where a long title is not cut; and once, however often it is forked.
  return `${FORK_OF}${title.startsWith(FORK_OF) ? title.slice(FORK_OF.length) : title}`.slice(
    0,
    TITLE_MAX,
  );
}
