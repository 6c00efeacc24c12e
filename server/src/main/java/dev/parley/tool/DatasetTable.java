package dev.parley.tool;

import dev.parley.protocol.Json;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.node.ObjectNode;

/// The rows of a dataset, the types of their columns, and a summary of each source file.
record DatasetTable(List<ObjectNode> rows, Map<String, Set<String>> types, List<ObjectNode> files) {

  private static final MathContext MEAN_PRECISION = new MathContext(10);

  /// A table of rows from the arguments.
  static DatasetTable of(List<ObjectNode> rows) {
    var types = new LinkedHashMap<String, Set<String>>();
    for (var row : rows) {
      row.properties()
          .forEach(
              cell ->
                  add(
                      types,
                      cell.getKey(),
                      switch (cell.getValue().getNodeType()) {
                        case NUMBER -> "number";
                        case BOOLEAN -> "boolean";
                        case STRING, BINARY -> "string";
                        case ARRAY -> "array";
                        case NULL, MISSING -> "null";
                        case OBJECT, POJO -> "object";
                      }));
    }
    return new DatasetTable(rows, types, List.of());
  }

  /// The rows of a CSV file, with the name of the file as the first column; numeric columns contain
  /// numbers.
  static DatasetTable of(String file, Csv csv) {
    var types = new LinkedHashMap<String, Set<String>>();
    add(types, DatasetTool.FILE_COLUMN, "string");
    var summary = Json.object().put("file", file).put("rows", csv.rows().size());
    csv.columns().forEach(summary.putArray("columns")::add);
    var numeric = summary.putObject("numeric");
    for (var i = 0; i < csv.columns().size(); i++) {
      var numbers = csv.numbers(i);
      add(types, csv.columns().get(i), numbers.isEmpty() ? "string" : "number");
      if (!numbers.isEmpty()) {
        numeric.set(csv.columns().get(i), range(numbers));
      }
    }
    if (csv.ragged() > 0) {
      summary.put("ragged", csv.ragged());
    }
    return new DatasetTable(rows(file, csv, types), types, List.of(summary));
  }

  static DatasetTable join(List<DatasetTable> tables) {
    var types = new LinkedHashMap<String, Set<String>>();
    tables.forEach(
        datasetTable ->
            datasetTable
                .types()
                .forEach((name, all) -> all.forEach(type -> add(types, name, type))));
    return new DatasetTable(
        tables.stream().flatMap(datasetTable -> datasetTable.rows().stream()).toList(),
        types,
        tables.stream().flatMap(datasetTable -> datasetTable.files().stream()).toList());
  }

  /// The JSON Schema of a row.
  ObjectNode schema() {
    var schema = Json.object().put("type", "object");
    var properties = schema.putObject("properties");
    types.forEach(
        (name, all) -> {
          if (all.size() == 1) {
            properties.putObject(name).put("type", all.iterator().next());
          } else {
            all.forEach(properties.putObject(name).putArray("type")::add);
          }
        });
    return schema;
  }

  private static List<ObjectNode> rows(String file, Csv csv, Map<String, Set<String>> types) {
    var rows = new ArrayList<ObjectNode>();
    for (var cells : csv.rows()) {
      var row = Json.object().put(DatasetTool.FILE_COLUMN, file);
      for (var i = 0; i < cells.size(); i++) {
        var name = csv.columns().get(i);
        if (!types.getOrDefault(name, Set.of()).contains("number")) {
          row.put(name, cells.get(i));
        } else if (!cells.get(i).isBlank()) {
          row.put(name, plain(new BigDecimal(cells.get(i).strip())));
        }
      }
      rows.add(row);
    }
    return rows;
  }

  private static ObjectNode range(List<BigDecimal> numbers) {
    var sum = numbers.stream().reduce(BigDecimal.ZERO, BigDecimal::add);
    var mean = sum.divide(BigDecimal.valueOf(numbers.size()), MEAN_PRECISION);
    return Json.object()
        .put("min", plain(Collections.min(numbers)))
        .put("max", plain(Collections.max(numbers)))
        .put("mean", plain(mean));
  }

  /// The number without an exponent or trailing zeros.
  private static BigDecimal plain(BigDecimal number) {
    var stripped = number.stripTrailingZeros();
    return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
  }

  private static void add(Map<String, Set<String>> types, String name, String type) {
    types.computeIfAbsent(name, _ -> new TreeSet<>()).add(type);
  }
}
