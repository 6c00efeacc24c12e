package dev.parley.api.contexts;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Parameter;
import dev.parley.http.Request;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.stream.EventFilter;
import dev.parley.stream.EventFormat;
import dev.parley.stream.NativeFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// Parses the query parameters that select a format of events, and applies them. Modules add
/// formats to the native one.
final class EventFormatParameters {

  private final ApiDependencies parts;
  private final Map<String, EventFormat> formats;

  /// The names of the formats that modules added.
  private final String names;

  EventFormatParameters(ApiDependencies parts, Map<String, EventFormat> formats) {
    this.parts = parts;
    this.formats = new TreeMap<>(formats);
    this.names = String.join(" or ", this.formats.keySet());
  }

  /// The parameters of lists and streams.
  List<Parameter> parameters() {
    return formats.isEmpty()
        ? List.of()
        : List.of(
            Parameter.query("format", "native (default) or " + names),
            Parameter.query("debug", "with format=" + names + ", 1: include diagnostics"));
  }

  /// The further parameters of streams.
  List<Parameter> streamParameters() {
    return formats.isEmpty()
        ? List.of()
        : List.of(
            Parameter.query(
                "replay", "with format=" + names + ": full (default), session, or none"));
  }

  /// The format that the request names.
  EventFormat format(Request request) {
    var name = request.query("format").orElse("native");
    if (name.equals("native")) {
      rejectParameter(request, "debug");
      rejectParameter(request, "replay");
      return NativeFormat.INSTANCE;
    }
    var format = formats.get(name);
    if (format == null) {
      throw new Rejection.Invalid(
          "format must be native" + (formats.isEmpty() ? "" : " or " + names));
    }
    return format;
  }

  /// The filter of the request, for this format.
  EventFilter filter(Request request, ContextId context, EventFormat eventFormat) {
    var debug = debug(request);
    var filter =
        EventFilter.of(
            name -> debug && name.equals("internal") ? Optional.of("true") : request.query(name),
            task -> parts.views().parentOf(context, task));
    if (filter.internal()) {
      parts.access().checkInternal(request.caller());
    }
    return debug || eventFormat.equals(NativeFormat.INSTANCE)
        ? filter
        : filter.without(eventFormat.diagnostics());
  }

  /// The start of a stream that names no position.
  Position startPosition(Request request, ContextId context) {
    var replay = request.query("replay").orElse("full");
    return switch (replay) {
      // A stream has one session, so both mean its whole history.
      case "full", "session" -> Position.START;
      case "none" -> parts.log().head(context);
      default -> throw new Rejection.Invalid("replay must be full, session or none");
    };
  }

  private static boolean debug(Request request) {
    var text = request.query("debug").orElse("0");
    return switch (text) {
      case "1", "true" -> true;
      case "0", "false" -> false;
      default -> throw new Rejection.Invalid("debug must be 1 or 0");
    };
  }

  private void rejectParameter(Request request, String name) {
    if (request.query(name).isPresent()) {
      throw new Rejection.Invalid(
          name
              + (formats.isEmpty()
                  ? " is not allowed with format=native"
                  : " requires format=" + names));
    }
  }
}
