package dev.parley.tool;

import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// `report`: writes a Markdown file, in chunks.
public final class ReportTool extends BuiltInTool<ReportTool.Arguments> {

  private static final String DESCRIPTION =
      "Writes a Markdown file for the person to keep. The same name again replaces it by a new"
          + " version. Returns {artifactId, version, size}.";

  private static final int CHUNK_MIN = 64;
  private static final int CHUNK_MAX = 16_384;
  private static final int CHUNKS_USUAL = 5;

  /// The text and the name of the file.
  public record Arguments(String name, @Nullable String description, String content) {}

  public ReportTool() {
    super("report", Effect.IDEMPOTENT, Arguments.class, DESCRIPTION);
  }

  @Override
  public Permission permission() {
    return Permission.ALLOW;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) throws InterruptedException {
    if (arguments.name().isBlank()) {
      return ArtifactResults.nameMissing();
    }
    var id = ArtifactResults.id(arguments.name());
    var size = arguments.content().getBytes(StandardCharsets.UTF_8).length;
    var chunks = chunks(arguments.content());
    var version = 0;
    for (var i = 0; i < chunks.size(); i++) {
      var index = i;
      var first = i == 0;
      version =
          context.write(
              id,
              first,
              number ->
                  new FileWrite(
                      id,
                      chunks.get(index),
                      index,
                      index == chunks.size() - 1,
                      first ? arguments.name() : null,
                      first ? arguments.description() : null,
                      first ? "text/markdown" : null,
                      first ? Encoding.UTF_8 : null,
                      ArtifactResults.metadata(context).put("totalSize", size),
                      number));
      context.steps("chunk " + (i + 1) + " of " + chunks.size(), i + 1, chunks.size());
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    return ArtifactResults.written(id, version, Json.object().put("size", size));
  }

  /// Splits at line ends where possible, and never inside a character.
  private static List<String> chunks(String text) {
    var size = Math.clamp(text.length() / CHUNKS_USUAL, CHUNK_MIN, CHUNK_MAX);
    var chunks = new ArrayList<String>();
    for (var start = 0; start < text.length(); ) {
      var end = Math.min(text.length(), start + size);
      var line = text.lastIndexOf('\n', end - 1);
      if (end < text.length() && line >= start) {
        end = line + 1;
      } else if (end < text.length() && Character.isHighSurrogate(text.charAt(end - 1))) {
        end--;
      }
      chunks.add(text.substring(start, end));
      start = end;
    }
    return chunks.isEmpty() ? List.of("") : chunks;
  }
}
