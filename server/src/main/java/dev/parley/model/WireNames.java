package dev.parley.model;

import dev.parley.model.Prompt.ToolDescription;
import dev.parley.protocol.ToolCallId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/// Maps names of tools and ids of calls to those in one request, because providers allow fewer
/// characters.
///
/// The same conversation always gets the same names, so that providers can cache it. For one
/// thread.
final class WireNames {

  private static final int NAME_MAX = 64;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1," + NAME_MAX + "}");
  private static final Pattern CALL = Pattern.compile("[A-Za-z0-9_-]{1,40}");

  private final Map<String, String> wire = new HashMap<>();
  private final Map<String, String> ours = new HashMap<>();
  private final Map<ToolCallId, String> calls = new HashMap<>();

  WireNames(List<ToolDescription> tools) {
    // Valid names are added first, so that no replacement takes their place.
    tools.stream().map(ToolDescription::name).filter(WireNames::fits).forEach(this::tool);
    tools.stream().map(ToolDescription::name).forEach(this::tool);
  }

  /// Returns the name of the tool in the request.
  String tool(String name) {
    var known = wire.get(name);
    if (known != null) {
      return known;
    }
    var given = fits(name) && !ours.containsKey(name) ? name : free(name);
    wire.put(name, given);
    ours.put(given, name);
    return given;
  }

  /// Returns our name of a tool that the model calls.
  String ours(String name) {
    return ours.getOrDefault(name, name);
  }

  /// Returns the id of the call in the request.
  String call(ToolCallId id) {
    return calls.computeIfAbsent(
        id, _ -> CALL.matcher(id.value()).matches() ? id.value() : "parley_call_" + calls.size());
  }

  /// Returns a name similar to this one that no tool has.
  String free(String name) {
    var plain = name.replaceAll("[^A-Za-z0-9_-]", "_");
    plain = plain.isEmpty() ? "_" : plain;
    for (var i = 1; ; i++) {
      var end = i == 1 ? "" : "_" + i;
      var shorter = plain.substring(0, Math.min(plain.length(), NAME_MAX - end.length())) + end;
      if (!ours.containsKey(shorter)) {
        return shorter;
      }
    }
  }

  private static boolean fits(String name) {
    return NAME.matcher(name).matches();
  }
}
