package dev.parley.api.a2a;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The metadata that kagent clients read, for the messages and tasks of one root task.
///
/// @param user the owner of the context
/// @param enabled whether this metadata is written at all
public record KagentMetadata(
    ContextId context, TaskId root, AgentTypeId agent, String user, boolean enabled) {

  /// In a message's metadata: the root task that it belongs to.
  public static final String INVOCATION = "kagent_invocation_id";

  /// In a request's metadata: the root task before which to rewind.
  public static final String REWIND = "kagent_rewind_before_invocation_id";

  /// In a task's metadata: this task replaces everything that the client has of the session.
  public static final String REWOUND = "kagent_rewound";

  /// In a part's metadata: the part's type.
  static final String TYPE = "kagent_type";

  static final String USER = "user";

  /// The metadata of a task.
  public ObjectNode ofTask() {
    if (!enabled) {
      return Json.object();
    }
    return Json.object()
        .put("kagent_app_name", agent.value())
        .put("kagent_session_id", context.value())
        .put("kagent_user_id", user)
        .put(INVOCATION, root.value());
  }

  /// The metadata of a message: the sender's metadata and these fields, which take precedence.
  public @Nullable ObjectNode ofMessage(@Nullable ObjectNode said, String author) {
    var marks = said == null ? Json.object() : said.deepCopy();
    marks.remove(REWIND);
    marks.setAll(ofTask());
    if (enabled) {
      marks.put("kagent_author", author);
    }
    return marks.isEmpty() ? null : marks;
  }

  /// The metadata of an artifact chunk, if any: whether the text is repeated as a whole later.
  /// While text is streamed, kagent clients show only such chunks.
  @Nullable ObjectNode ofChunk(ArtifactFold.ChunkKind kind) {
    return switch (kind) {
      case PLAIN -> null;
      case PARTIAL -> Json.object().put("adk_partial", true).put("kagent_partial", true);
      case WHOLE -> ofTask().put("adk_partial", false).put("kagent_partial", false);
    };
  }

  /// The metadata of a part, if any.
  @Nullable ObjectNode ofPart(ObjectNode marks) {
    return enabled ? marks : null;
  }
}
