package dev.parley.tool;

import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.Json;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// `data`: writes a data record.
public final class DataTool extends BuiltInTool<DataTool.Arguments> {

  private static final String DESCRIPTION =
      "Writes a data record for the person to keep: any JSON object. The same name again"
          + " replaces it by a new version. Returns {artifactId, version}.";

  /// The record and its name.
  public record Arguments(String name, @Nullable String description, ObjectNode data) {}

  public DataTool() {
    super("data", Effect.IDEMPOTENT, Arguments.class, DESCRIPTION);
  }

  @Override
  public Permission permission() {
    return Permission.ALLOW;
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
