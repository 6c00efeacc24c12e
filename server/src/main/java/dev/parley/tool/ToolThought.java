package dev.parley.tool;

import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtEvent.Visibility;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A piece of reasoning that a tool publishes.
///
/// `relatedTo` is the id of the tool call or of the thought that it refers to. With `visibility`
/// `internal`, only readers of internal events see it.
public record ToolThought(
    ThoughtType type,
    Verbosity verbosity,
    String content,
    @Nullable Double confidence,
    @Nullable String relatedTo,
    @Nullable Visibility visibility) {

  /// A thought that is visible to everyone and refers to nothing.
  public ToolThought(
      ThoughtType type, Verbosity verbosity, String content, @Nullable Double confidence) {
    this(type, verbosity, content, confidence, null, null);
  }

  /// The metadata of its event.
  public ObjectNode metadata() {
    var metadata = Json.object();
    if (confidence != null) {
      metadata.put("confidence", confidence);
    }
    if (relatedTo != null) {
      metadata.put("relatedTo", relatedTo);
    }
    return metadata;
  }
}
