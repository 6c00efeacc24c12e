package dev.parley.api;

import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.projection.Views;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Rejection;

/// Finds, edits and hides messages, for all APIs.
public final class MessageEditor {

  private final EventLog log;
  private final Views views;

  public MessageEditor(EventLog log, Views views) {
    this.log = log;
    this.views = views;
  }

  /// The message with its current text.
  ///
  /// @throws Rejection.NotFound if it is hidden, rewound or unknown
  public MessageView find(ContextId context, MessageId id) {
    return views.message(context, id).orElseThrow(() -> unknown(id));
  }

  /// Replaces the text of the message, which stays so after a rewind. The earlier text stays in the
  /// log.
  ///
  /// @throws Rejection.NotFound if it is hidden, rewound or unknown
  public MessageView edit(ContextId context, MessageId id, String content, String principal) {
    find(context, id);
    // An edit that a concurrent delete precedes has no effect, and is rejected as unknown.
    append(context, AppendGuard.none(), new MessageUpdated(id, content, null, principal));
    return find(context, id);
  }

  /// Hides the message, which stays so after a rewind. It stays in the log.
  ///
  /// @throws Rejection.NotFound if it is hidden already, rewound or unknown
  public void delete(ContextId context, MessageId id, String principal) {
    var seq = find(context, id).seq();
    // No principal has the empty name. Of two concurrent deletes, the log accepts one.
    var idempotencyKey = new AppendGuard.IdempotencyKey("", "delete-message:" + id + "@" + seq, "");
    if (append(context, idempotencyKey, new MessageDeleted(id, principal))) {
      throw unknown(id);
    }
  }

  private boolean append(ContextId context, AppendGuard appendGuard, Event event) {
    return log.append(context, appendGuard, Decision.always(EventDraft.of(event))).replayed();
  }

  private static Rejection unknown(MessageId id) {
    return new Rejection.NotFound("no such message: " + id);
  }
}
