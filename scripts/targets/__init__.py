"""Where a case is built and run. One module per target behind one interface (`interface.Target`)."""
