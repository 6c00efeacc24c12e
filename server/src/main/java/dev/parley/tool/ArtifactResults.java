package dev.parley.tool;

import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import tools.jackson.databind.node.ObjectNode;

/// Shared code of the tools that write artifacts.
final class ArtifactResults {

  private ArtifactResults() {}

  /// The id of the artifact with this name: writing the same name again creates a new version of
  /// the same artifact.
  static ArtifactId id(String name) {
    var id = name.strip().replaceAll("[^A-Za-z0-9._:-]+", "-");
    return new ArtifactId(id.substring(0, Math.min(id.length(), Id.LENGTH_MAX)));
  }

  static ObjectNode metadata(ToolContext context) {
    return Json.object().put("toolCallId", context.call().value());
  }

  static ToolResult written(ArtifactId id, int version, ObjectNode more) {
    var result = Json.object().put("artifactId", id.value()).put("version", version);
    result.setAll(more);
    return new ToolResult.Done(result);
  }

  static ToolResult nameMissing() {
    return new ToolResult.Failed("an artifact needs a name");
  }
}
