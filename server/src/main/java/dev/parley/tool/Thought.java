package dev.parley.tool;

import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtEvent.Visibility;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A piece of reasoning that a tool makes known.
///
/// `relatedTo` is the id of the tool call or of the thought that it is about. With `visibility` `internal`, only readers
/// of internal events see it.
public record Thought(
    ThoughtType type,
    Verbosity verbosity,
    String content,
    @Nullable Double confidence,
    @Nullable String relatedTo,
    @Nullable Visibility visibility) {

  /// One that everybody may see, about nothing in particular.
  public Thought(
      ThoughtType type, Verbosity verbosity, String content, @Nullable Double confidence) {
    this(type, verbosity, content, confidence, null, null);
  }

  /// What an event says of it beside its text.
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
