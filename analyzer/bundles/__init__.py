"""What is given to read: folders and archives, their members, how they are packed and wrapped, what each is."""
