package dev.parley.tool;

import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// `dataset`: writes rows, given as arguments or read from CSV files, in batches.
public final class DatasetTool extends BuiltInTool<DatasetTool.Arguments> {

  private static final String DESCRIPTION =
      "Writes a dataset for the person to keep: either rows, which are JSON objects, or all"
          + " rows of the CSV files of the working directory named in files. Returns"
          + " {artifactId, version, rows}, and for files also {files: [{file, rows, columns,"
          + " numeric: {column: {min, max, mean}}}]}. The same name again replaces it by a new"
          + " version.";

  /// The column with the file of a row.
  static final String FILE_COLUMN = "file";

  private static final int BATCH_MAX = 200;
  private static final int BATCHES_USUAL = 4;
  private static final int ROWS_MAX = 200_000;
  private static final int FILES_MAX = 100;

  /// The rows or their files, and the name of the dataset.
  public record Arguments(
      String name,
      @Nullable String description,
      @Nullable List<String> files,
      @Nullable List<ObjectNode> rows) {}

  private final FileAccess access;

  public DatasetTool() {
    this(FileAccess.WITHOUT_SERVER);
  }

  /// With access to the folders of `access` only.
  public DatasetTool(FileAccess access) {
    super("dataset", Effect.IDEMPOTENT, Arguments.class, DESCRIPTION);
    this.access = access;
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
    var files = arguments.files();
    if ((files == null) == (arguments.rows() == null)) {
      return new ToolResult.Failed("either files or rows must be given");
    }
    if (files == null) {
      return write(arguments, context, DatasetTable.of(arguments.rows()));
    }
    if (files.isEmpty() || files.size() > FILES_MAX) {
      return new ToolResult.Failed("files must contain 1 to " + FILES_MAX + " names");
    }
    var tables = new ArrayList<DatasetTable>();
    var workingDirectory = new WorkingDirectory(access, context);
    for (var name : files) {
      try {
        tables.add(
            DatasetTable.of(
                name, Csv.parse(TextFile.read(workingDirectory, workingDirectory.find(name)))));
      } catch (IOException unreadable) {
        return new ToolResult.Failed(TextFile.reason(name, unreadable));
      }
    }
    return write(arguments, context, DatasetTable.join(tables));
  }

  private static ToolResult write(
      Arguments arguments, ToolContext context, DatasetTable datasetTable)
      throws InterruptedException {
    var rows = datasetTable.rows();
    if (rows.size() > ROWS_MAX) {
      return new ToolResult.Failed("a dataset has at most " + ROWS_MAX + " rows");
    }
    var id = ArtifactResults.id(arguments.name());
    var size = Math.clamp((rows.size() + BATCHES_USUAL - 1) / BATCHES_USUAL, 1, BATCH_MAX);
    var batches = Math.max(1, (rows.size() + size - 1) / size);
    var version = 0;
    for (var i = 0; i < batches; i++) {
      var index = i;
      var first = i == 0;
      var batch = rows.subList(i * size, Math.min(rows.size(), (i + 1) * size));
      version =
          context.write(
              id,
              first,
              number ->
                  new DatasetWrite(
                      id,
                      batch,
                      index,
                      index == batches - 1,
                      first ? arguments.name() : null,
                      first ? arguments.description() : null,
                      first ? datasetTable.schema() : null,
                      ArtifactResults.metadata(context)
                          .put("totalRows", rows.size())
                          .put("batchSize", size),
                      number));
      context.steps("batch " + (i + 1) + " of " + batches, i + 1, batches);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    var result = Json.object().put("rows", rows.size());
    if (!datasetTable.files().isEmpty()) {
      datasetTable.files().forEach(result.putArray("files")::add);
    }
    return ArtifactResults.written(id, version, result);
  }
}
