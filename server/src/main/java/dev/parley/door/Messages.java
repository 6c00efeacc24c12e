package dev.parley.door;

import dev.parley.log.Decision;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Rejection;
import dev.parley.view.MessageView;
import dev.parley.view.Views;

/// Looks up, edits and hides what was said, for any door.
public final class Messages {

  private final EventLog log;
  private final Views views;

  public Messages(EventLog log, Views views) {
    this.log = log;
    this.views = views;
  }

  /// The message as it now reads.
  ///
  /// @throws Rejection.NotFound if it is hidden, rewound or unknown
  public MessageView find(ContextId context, MessageId id) {
    return views.message(context, id).orElseThrow(() -> unknown(id));
  }

  /// Gives the message another text, whatever is rewound; the earlier one stays in the log.
  ///
  /// @throws Rejection.NotFound if it is hidden, rewound or unknown
  public MessageView edit(ContextId context, MessageId id, String content, String principal) {
    find(context, id);
    // An edit that loses against a delete stays without effect, and is answered as unknown.
    append(context, Guard.none(), new MessageUpdated(id, content, null, principal));
    return find(context, id);
  }

  /// Hides the message, whatever is rewound; it stays in the log.
  ///
  /// @throws Rejection.NotFound if it is hidden already, rewound or unknown
  public void delete(ContextId context, MessageId id, String principal) {
    var seq = find(context, id).seq();
    // Nobody has the empty name: of two deletes at the same time, the log lets one happen.
    var once = new Guard.Once("", "delete-message:" + id + "@" + seq, "");
    if (append(context, once, new MessageDeleted(id, principal))) {
      throw unknown(id);
    }
  }

  private boolean append(ContextId context, Guard guard, Event event) {
    return log.append(context, guard, Decision.always(Draft.of(event))).replayed();
  }

  private static Rejection unknown(MessageId id) {
    return new Rejection.NotFound("no such message: " + id);
  }
}
