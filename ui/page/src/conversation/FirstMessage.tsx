import type { NewMessage } from "@parley/client";
import { Markdown } from "../text/Markdown.js";

/** The first message of a conversation, from the moment it is sent until the log has it. */
export function FirstMessage({ message }: { message: NewMessage }) {
  return (
    <div class="row" data-kind="message" data-sending>
      <div class="message user">
        <div class="bubble">
          <Markdown text={message.content ?? ""} />
        </div>
      </div>
    </div>
  );
}
