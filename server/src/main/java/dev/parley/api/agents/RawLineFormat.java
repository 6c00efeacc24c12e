package dev.parley.api.agents;

import dev.parley.log.EventLog;
import dev.parley.projection.Views;
import dev.parley.protocol.Entry;
import dev.parley.protocol.ReportEvent.InternalRaw;
import java.util.List;

/// Encodes the original lines of a program, for tasks that store all of them.
final class RawLineFormat extends ProxyFormat {

  RawLineFormat(EventLog log, Views views) {
    super(log, views);
  }

  @Override
  List<String> lines(Entry entry) {
    return entry.event() instanceof InternalRaw raw && raw.line().indexOf('\n') < 0
        ? List.of(raw.line().replace("\r", ""))
        : List.of();
  }
}
