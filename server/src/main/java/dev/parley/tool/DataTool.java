package dev.parley.tool;

import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.Json;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// `data`: writes a data record.
public final class DataTool implements TypedTool<DataTool.Arguments> {

  /// The record and its name.
  public record Arguments(String name, @Nullable String description, ObjectNode data) {}

  @Override
  public String name() {
    return "data";
  }

  @Override
  public String description() {
    return "Writes a data record for the person to keep: any JSON object. The same name again"
        + " replaces it by a new version. Returns {artifactId, version}.";
  }

  @Override
  public Class<Arguments> arguments() {
    return Arguments.class;
  }

  @Override
  public Effect effect() {
    return Effect.IDEMPOTENT;
  }

  @Override
  public Permission permission() {
    return Permission.ALLOW;
  }

  @Override
  public boolean concurrent() {
    return false;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) {
    if (arguments.name().isBlank()) {
      return ArtifactResults.nameMissing();
    }
    var id = ArtifactResults.id(arguments.name());
    var version =
        context.write(
            id,
            true,
            number ->
                new DataWrite(
                    id,
                    arguments.name(),
                    arguments.description(),
                    arguments.data(),
                    ArtifactResults.metadata(context).put("version", number),
                    number));
    return ArtifactResults.written(id, version, Json.object());
  }
}
