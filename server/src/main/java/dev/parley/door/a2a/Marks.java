package dev.parley.door.a2a;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What every message and task of one root task says in its metadata, as kagent's clients look for it.
///
/// @param user who owns the context
/// @param told whether any of it is said at all
public record Marks(ContextId context, TaskId root, AgentTypeId agent, String user, boolean told) {

  /// In a message's metadata: the root task that it belongs to.
  public static final String INVOCATION = "kagent_invocation_id";

  /// In a request's metadata: the root task to go back to before.
  public static final String REWIND = "kagent_rewind_before_invocation_id";

  /// In a task's metadata: it takes the place of all that was known of the session.
  public static final String REWOUND = "kagent_rewound";

  /// On a part: what it is.
  static final String TYPE = "kagent_type";

  static final String USER = "user";

  /// The marks of a task.
  public ObjectNode ofTask() {
    if (!told) {
      return Json.object();
    }
    return Json.object()
        .put("kagent_app_name", agent.value())
        .put("kagent_session_id", context.value())
        .put("kagent_user_id", user)
        .put(INVOCATION, root.value());
  }

  /// The marks of a message, above what its sender said.
  public @Nullable ObjectNode ofMessage(@Nullable ObjectNode said, String author) {
    var marks = said == null ? Json.object() : said.deepCopy();
    marks.remove(REWIND);
    marks.setAll(ofTask());
    if (told) {
      marks.put("kagent_author", author);
    }
    return marks.isEmpty() ? null : marks;
  }

  /// The marks of a piece of an artifact, if there are any: whether a piece of text is repeated as a
  /// whole later. Clients of kagent's show no other text while it is written.
  @Nullable ObjectNode ofPiece(Making.PieceKind kind) {
    return switch (kind) {
      case PLAIN -> null;
      case PARTIAL -> Json.object().put("adk_partial", true).put("kagent_partial", true);
      case WHOLE -> ofTask().put("adk_partial", false).put("kagent_partial", false);
    };
  }

  /// The marks of a part, if there are any.
  @Nullable ObjectNode ofPart(ObjectNode marks) {
    return told ? marks : null;
  }
}
