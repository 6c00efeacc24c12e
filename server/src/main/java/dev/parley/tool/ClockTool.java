package dev.parley.tool;

import dev.parley.protocol.Json;
import java.time.DateTimeException;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/// `clock`: returns the current time.
public final class ClockTool extends BuiltInTool<ClockTool.Arguments> {

  private static final String DESCRIPTION =
      "Returns the date and time as {time, zone}, in UTC or in zone, such as Europe/Berlin.";

  private final InstantSource time;

  public ClockTool(InstantSource time) {
    super("clock", Effect.PURE, Arguments.class, DESCRIPTION);
    this.time = time;
  }

  /// The time zone.
  public record Arguments(@Nullable String zone) {}

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) {
    try {
      var zone = arguments.zone() == null ? ZoneOffset.UTC : ZoneId.of(arguments.zone());
      var now = time.instant().truncatedTo(ChronoUnit.SECONDS).atZone(zone);
      return new ToolResult.Done(
          Json.object()
              .put("time", DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(now))
              .put("zone", arguments.zone() == null ? "UTC" : zone.getId()));
    } catch (DateTimeException unknown) {
      return new ToolResult.Failed("no such time zone: " + arguments.zone());
    }
  }
}
